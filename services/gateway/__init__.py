"""What reaches the socket."""
