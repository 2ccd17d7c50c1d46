"""What a matcher is given and gives back: the engine protocol, ids, rules, groups, counts."""
