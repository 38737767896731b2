-- What a file says that the receiver of a call is: the name of a type, of what made it, or nothing.
ALTER TABLE code_calls ADD COLUMN held TEXT;
