"""``arclink aggregate URI``: the links of a URI in several archives, merged."""

import click

from arclink.access.declarations import Given
from arclink.access.formats import FORM, FORMAT, FORMATS, chosen_format
from arclink.cli.instance_options import TIMEOUT, WHOLE, client_for, complain, end_if_incomplete
from arclink.cli.options import INSTANCE, takes, write_answer
from arclink.others.federation.merge import MERGED_PARAMETERS, MergedQuery, answer_of, merge

EXAMPLES = ("arclink aggregate example.org --instance olympics=http://127.0.0.1:8080/olympics",)


@click.command()
@takes(*MERGED_PARAMETERS, *FORM, INSTANCE, TIMEOUT, WHOLE)
def command(given: Given) -> None:
    """Query several services for the links of URI at once, and merge their answers link by link.

    Exit code 3 means that an instance failed or gave only a part of its answer. Standard error
    names the instance and the reason.
    """
    asked = MergedQuery.of(given)
    form = chosen_format(FORMAT.required(given), given)
    found = client_for(given, INSTANCE).ask(asked.query)
    reports = [report for _, report in found]
    complain(reports, is_table=form is FORMATS["table"])
    answer = answer_of(merge(findings for findings, _ in found), asked, reports)
    write_answer(form.write(answer))
    end_if_incomplete(reports)
