"""The interface of matchers: the engine protocol, ids, rules, groups, counts."""
