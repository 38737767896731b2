"""One module for each screen: from a service's answer to what its template shows."""
