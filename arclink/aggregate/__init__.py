"""Several archives' answers to one link query become one: values in, values out.

`instances` says who may be asked and what is asked; `listings` and `json_answers` read what came back; `believing` keeps
of it what can be an answer to the question; `merging` puts the links of archives together; `merged_answers` makes an
answer of them that every format can write. Fetching is `arclink.neighbours`.

Source: the paper, section 3.4: aggregation on the level of responses.
"""
