"""The command line. ``main.run`` is the way in; commands are imported when they are called."""
