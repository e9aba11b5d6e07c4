"""Merging of several archives' answers to one link query.

`instances` parses the configured instances and builds the URLs of requests; `requests` sends them
(`http_client`, `cache`). `listings` and `json_answers` parse the responses, `validation` keeps the
links that can answer the query, `merge` unites the links of all archives, and `merged_answers`
turns the result into an answer that every format can write.

Source: the paper, section 3.4: aggregation on the level of responses.
"""
