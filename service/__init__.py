"""The HTTP service: one module per resource, thin views that parse, ask and write.

`service.application.create_app` makes the Flask application; `service.running.serve` runs it.
"""
