"""Types and serializers of what agents read."""
