"""What every request passes, whoever it is for: headers, hosts, languages, limits, logs."""
