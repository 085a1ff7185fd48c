"""Tables and probes of joins: SNJoin, its rivals, answers of variable arity."""
