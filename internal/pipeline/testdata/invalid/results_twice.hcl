results {
  from    = ["a", "a", ""]
  trust = [
    "alice", "bob:AAAA", "eve:MCowBQYDK2VwAyEAGb9ECWmEzf6FQbrBZ9w7lshQhqowtrbL",
    "alice:11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=",
    "again:11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=",
  ]
  revoked = ["alice:11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo="]
}
