"""One of each thing that a package can add to ovillo; each in a module of its own."""
