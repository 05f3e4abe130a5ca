"""Events: who subscribed to completed responses, and the queue of what is sent to them."""
