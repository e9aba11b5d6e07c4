"""The door for agents: programs that a language model drives, by the Model Context Protocol (MCP).

`tools` makes a tool of each resource of the service; a call of a tool is a request to the service
in the same process. So subset, embargo, limits and errors are those of the service. `tools` also
has the two resources that only agents have, and `protocol` speaks the protocol.
"""
