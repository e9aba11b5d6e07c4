"""``arclink aggregate URI``: the links of a URI in several archives, merged."""

import sys

import click

from arclink.access.archives import Outcome
from arclink.access.declarations import Given
from arclink.access.formats import FORM, FORMAT, FORMATS, chosen_format
from arclink.cli.instance_options import INCOMPLETE, TIMEOUT, WHOLE, complain
from arclink.cli.options import INSTANCE, takes, write_answer
from arclink.federation.instances import parse_instances
from arclink.federation.limits import QueryLimits
from arclink.federation.merge import merge
from arclink.federation.merged_answers import MERGED_PARAMETERS, MergedQuery, answer_of
from arclink.federation.requests import Asking

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
    limits = QueryLimits(
        instance_seconds=TIMEOUT.required(given), whole_seconds=WHOLE.required(given)
    )
    asking = Asking(parse_instances(INSTANCE.many(given)), limits)
    found = asking.ask(asked.query)
    reports = [report for _, report in found]
    complain(reports, is_table=form is FORMATS["table"])
    answer = answer_of(merge(findings for findings, _ in found), asked, reports)
    write_answer(form.write(answer))
    if any(report.outcome is not Outcome.ANSWERED for report in reports):
        sys.exit(INCOMPLETE)
