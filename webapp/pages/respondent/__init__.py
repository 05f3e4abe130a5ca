"""Pages of somebody who answers a form."""
