"""Questions about code, answered out of the code: what is asked, of which definition, and the lines that say it.

Owns the way from a question to pieces of source with their places. Finding definitions by words is ``search.symbols``', who calls
whom ``code``'s; what sessions said of it is found beside this by ``references.context``.
"""
