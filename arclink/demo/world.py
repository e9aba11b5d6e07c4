# ruff: noqa: RUF001 - the world uses letters of many scripts
"""The invented world of the demo archive: the winter games of Kalvik, and sites about them.

All hosts are below ``.example`` (RFC 2606). Every language has the same topics, in the same order,
and phrases for them, so that a page has a name for the topic of any other page.
"""

from dataclasses import dataclass

from arclink.demo.pages import UTF_8, Charset


@dataclass(frozen=True, slots=True)
class Language:
    """Words of one language, for its pages.

    Attributes:
        charset: Encoding of its older pages.
        phrases: Link texts; ``{}`` is a topic.
        sentences: Sentences to fill a page.
        home: Text of the link to the first page of a site.
        topics: Names of the topics, in the same order as in the other languages.
    """

    charset: Charset
    phrases: tuple[str, ...]
    sentences: tuple[str, ...]
    home: str
    topics: tuple[str, ...]


LANGUAGES = {
    "en": Language(
        UTF_8,
        ("{}", "more on {}", "{}: our report", "{} – in pictures", "read about {} here"),
        (
            "Snow fell on Kalvik all night.",
            "The harbour is full of visitors.",
            "Tickets are still to be had, say the organisers.",
        ),
        "Home",
        (
            "ski jumping",
            "the ice hockey final",
            "curling",
            "figure skating",
            "the biathlon relay",
            "luge",
            "the snowboard halfpipe",
            "the medal table",
            "the athletes’ village",
            "the torch relay",
            "volunteers",
            "the weather",
        ),
    ),
    "no": Language(
        Charset("cp1252", "windows-1252", "header"),
        ("{}", "mer om {}", "{} – les saken", "følg {} her"),
        (
            "Det snødde i Kalvik hele natten.",
            "Havnen er full av gjester.",
            "Løypene er åpne, sier arrangøren.",
        ),
        "Forsiden",
        (
            "hopp",
            "ishockeyfinalen",
            "curling",
            "kunstløp",
            "skiskytterstafetten",
            "aking",
            "snøbrett",
            "medaljer",
            "deltakerlandsbyen",
            "fakkelstafetten",
            "de frivillige",
            "været",
        ),
    ),
    "cs": Language(
        Charset("iso8859-2", "iso-8859-2", "meta"),
        ("{}", "více: {}", "{} – čtěte zde", "{} očima fanoušků"),
        (
            "V Kalviku celou noc sněžilo.",
            "Přístav je plný návštěvníků.",
            "Lístky prý ještě zbývají.",
        ),
        "Úvodní stránka",
        (
            "skoky na lyžích",
            "finále v hokeji",
            "curling",
            "krasobruslení",
            "štafeta v biatlonu",
            "saně",
            "snowboard",
            "pořadí podle medailí",
            "olympijská vesnička",
            "štafeta s pochodní",
            "dobrovolníci",
            "počasí",
        ),
    ),
    "ja": Language(
        Charset("shift_jis", "Shift_JIS", "http-equiv"),
        ("{}", "{}の記事", "{}の写真", "{}を見る"),
        ("カルヴィクでは一晩中雪が降った。", "港は観客でいっぱいだ。", "切符はまだ買えるという。"),
        "ホーム",
        (
            "スキージャンプ",
            "アイスホッケー決勝",
            "カーリング",
            "フィギュアスケート",
            "バイアスロン",
            "リュージュ",
            "スノーボード",
            "メダル表",
            "選手村",
            "聖火リレー",
            "ボランティア",
            "天気予報",
        ),
    ),
    "ru": Language(
        Charset("koi8-r", "koi8-r", "header"),
        ("{}", "{}: подробности", "{} — наш репортаж", "читайте: {}"),
        (
            "В Калвике всю ночь шёл снег.",
            "В гавани полно гостей.",
            "Билеты ещё есть, говорят устроители.",
        ),
        "На главную",
        (
            "прыжки с трамплина",
            "финал по хоккею",
            "кёрлинг",
            "фигурное катание",
            "эстафета биатлонистов",
            "санный спорт",
            "сноуборд",
            "таблица медалей",
            "деревня спортсменов",
            "эстафета огня",
            "волонтёры",
            "погода",
        ),
    ),
    "de": Language(
        Charset("cp1252", "iso-8859-1", "meta"),
        ("{}", "mehr über {}", "{} – unser Bericht", "alles über „{}“"),
        (
            "In Kalvik hat es die ganze Nacht geschneit.",
            "Der Hafen ist voller Gäste.",
            "Karten gibt es noch, heißt es.",
        ),
        "Startseite",
        (
            "Skispringen",
            "Eishockey-Endspiel",
            "Curling",
            "Eiskunstlauf",
            "Biathlon-Staffel",
            "Rodeln",
            "Snowboard",
            "Medaillenspiegel",
            "Athletendorf",
            "Fackellauf",
            "freiwillige Helfer",
            "Wetter",
        ),
    ),
    "ar": Language(
        Charset("utf-8", "utf-8", "header"),
        ("{}", "المزيد عن {}", "{} بالصور"),
        ("تساقط الثلج على كالفيك طوال الليل.", "الميناء مليء بالزوار.", "ما زالت التذاكر متوفرة."),
        "الرئيسية",
        (
            "القفز على الثلج",
            "نهائي هوكي الجليد",
            "الكيرلنغ",
            "التزلج الفني",
            "البياثلون",
            "الزلاجات",
            "التزلج على اللوح",
            "جدول الميداليات",
            "قرية الرياضيين",
            "مسيرة الشعلة",
            "المتطوعون",
            "الطقس",
        ),
    ),
    "he": Language(
        Charset("utf-8", "utf-8", "none"),
        ("{}", "עוד על {}", "{} בתמונות"),
        ("שלג ירד על קלוויק כל הלילה.", "הנמל מלא מבקרים.", "עדיין נותרו כרטיסים."),
        "דף הבית",
        (
            "קפיצות סקי",
            "גמר ההוקי",
            "קרלינג",
            "החלקה אמנותית",
            "ביאתלון",
            "מזחלות",
            "סנובורד",
            "טבלת המדליות",
            "כפר הספורטאים",
            "מסע הלפיד",
            "המתנדבים",
            "מזג האוויר",
        ),
    ),
}

TOPICS = (
    "ski-jumping",
    "ice-hockey",
    "curling",
    "figure-skating",
    "biathlon",
    "luge",
    "snowboard",
    "medals",
    "village",
    "torch",
    "volunteers",
    "weather",
)
"""The topics as file names."""

SECTIONS = ("news", "results", "photos", "guide", "archive/2009")


@dataclass(frozen=True, slots=True)
class Site:
    """A host, with the language and encoding of its pages.

    Attributes:
        turns_https: Whether it moves to ``https`` in the middle of the games and redirects from
            ``http``.
    """

    host: str
    name: str
    language: str
    charset: Charset
    turns_https: bool


def _site(
    host: str, name: str, language: str, charset: Charset | None = None, turns_https: bool = False
) -> Site:
    return Site(host, name, language, charset or LANGUAGES[language].charset, turns_https)


FIRST_SITES = (
    _site("www.kalvik2010.example", "Kalvik 2010", "en"),
    _site("aurora-daily.example", "Aurora Daily", "en", turns_https=True),
    _site("www.fjordpost.example", "Fjordposten", "no"),
    _site("snowblind.blog.example", "Snowblind", "en"),
    _site("zimni-noviny.example", "Zimní noviny", "cs"),
    _site("yukiguni.example", "雪国新聞", "ja"),
    _site("lyzhnya.example", "Лыжня", "ru", turns_https=True),
    _site("wintersport-bote.example", "Wintersport-Bote", "de"),
    _site(
        "curling-corner.example", "Curling Corner", "en", Charset("cp1252", "windows-1252", "meta")
    ),
    _site("thalj.example", "أخبار الثلج", "ar"),
    _site("sheleg.example", "שלג", "he"),
    _site("ski-stats.example", "Ski Statistics", "en", Charset("utf-16-le", "utf-16", "bom")),
)

_FIRST = (
    "frozen",
    "northern",
    "polar",
    "silver",
    "quiet",
    "steep",
    "deep",
    "bright",
    "windy",
    "lonely",
)
_SECOND = (
    "piste",
    "glacier",
    "rink",
    "lodge",
    "slope",
    "puck",
    "sledge",
    "ridge",
    "harbour",
    "lantern",
)


def sites(count: int) -> list[Site]:
    """Return the first ``count`` sites: first those with their own names, then generated ones."""
    made = list(FIRST_SITES[:count])
    languages = list(LANGUAGES)
    for number in range(count - len(made)):
        first, second = _FIRST[number % 10], _SECOND[number // 10 % 10]
        turn = number // 100
        host = f"{first}-{second}{turn or ''}.example"
        name = f"{first} {second} {turn or ''}".title().strip()
        made.append(
            _site(host, name, languages[number % len(languages)], turns_https=number % 3 == 0)
        )
    return made
