"""One narrative over states, reasons, events and audit records: of a capability, a generation or a request."""
