"""The HTTP service, and the pages for people.

Thin views parse a request, query and write the answer.

`arclink.service.application.create_app` makes the Flask application;
`arclink.service.server.serve` runs it.
"""
