"""Rate limits of all routes: the limiter and its storage."""
