"""What all requests share: headers, hosts, languages, rate limits and logs."""
