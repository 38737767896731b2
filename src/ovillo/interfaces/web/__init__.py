"""The pages: what a person reads, follows, measures and manages in the browser.

Owns what is drawn and how a page speaks to its reader. What is shown comes from the same services that answer programs;
nothing is worked out here that another interface could want too.
"""
