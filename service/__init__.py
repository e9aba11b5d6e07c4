"""The HTTP service: one module per resource.

Thin views parse a request, query and write the answer.

`arclink.service.application.create_app` makes the Flask application;
`arclink.service.server.serve` runs it.
"""
