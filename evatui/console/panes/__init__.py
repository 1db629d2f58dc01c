"""One pane a view: where its widgets stand, and what of a snapshot they show."""
