"""How much there is to scroll through."""

from __future__ import annotations

from textual.geometry import Size
from textual.scroll_view import ScrollView
from textual.widget import Widget

__all__ = ["set_extent"]


def set_extent(view: ScrollView, size: Size) -> None:
    """``size`` is that of all its content.

    Textual lays out the whole screen whenever it changes, which costs more than all else that a key does. That is
    needed only where a scroll bar comes or goes, or where the view is as high as its content.
    """
    bar = view.styles.overflow_y == "auto" and size.height > view.container_size.height
    if view.styles.is_auto_height or bar != view.show_vertical_scrollbar:
        view.virtual_size = size
    elif size != view.virtual_size:
        view.set_reactive(Widget.virtual_size, size)
        if bar:
            view.vertical_scrollbar.window_virtual_size = size.height
        view.scroll_y = min(view.scroll_y, view.max_scroll_y)
