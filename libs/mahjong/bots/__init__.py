"""Computer players: they see a seat's view, nothing else."""
