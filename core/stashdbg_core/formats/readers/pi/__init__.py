"""pi: sessions."""
