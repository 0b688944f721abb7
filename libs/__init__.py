"""Libraries: the game (mahjong), its contracts, and the chassis that every service stands on."""
