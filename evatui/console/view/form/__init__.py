"""The form of a call: which fields an input schema comes to, and the payload that they make. No widgets here."""
