"""What creators are shown about their forms before they publish, and agree to afterwards."""
