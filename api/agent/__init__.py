"""Routes for private agent tokens: polling and streaming the answers of one ask, a published form.

All are below `{base_url}/agent`.
"""
