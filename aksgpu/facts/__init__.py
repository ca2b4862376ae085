"""What is known about clusters, pools and GPU software, and what is not known. No rule lives here."""
