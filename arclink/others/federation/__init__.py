"""Merging of several archives' answers to one link query.

`instances` parses the configured instances and builds the URLs of requests; `requests` sends and
caches them. `listings` (RDF/XML) and `instance_answers` (JSON) parse the responses, and
`instance_answers` keeps the links that can answer the query; `merge` unites the links of all
archives in an answer that every format can write.

Source: the paper, section 3.4: aggregation on the level of responses.
"""
