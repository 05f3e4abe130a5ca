"""Shared by all requests: headers, hosts, languages, rate limits, logs."""
