-- Who adds messages says for which sessions costs are over: a trigger for each message cost more than its insert.

DROP TRIGGER cost_of_new_answer;
