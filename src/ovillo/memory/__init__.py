"""What agents put down to find again later. Owns memory beside sessions; sessions themselves are a floor below."""
