"""What other programs do for us: keeping audio, looking at it, writing it down."""
