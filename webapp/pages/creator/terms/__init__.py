"""What creators are told of their forms before they publish, and agree to afterwards."""
