"""Words of the glossary carry their meaning: what a link to one says is told where it stands.

A chapter links a word to the glossary, ``[propensity](../book/glossary.md)``, which works in every
reader of Markdown; ``{term}`` works on prose pages. Here such a link is led on to its entry, and
the definition becomes its title; ``book/_static/book.js`` shows it on hover, focus and tap.
"""

from docutils import nodes

GLOSSARY = "book/glossary"


def entries(glossary):
    """The meaning of each entry of the glossary by its place, and the places by their words."""
    meanings, places = {}, {}
    for item in glossary.findall(nodes.definition_list_item):
        (meaning,) = item.findall(nodes.definition)
        for term in item.findall(nodes.term):
            meanings |= dict.fromkeys(term["ids"], " ".join(meaning.astext().split()))
            places[term.astext().lower()] = term["ids"][0]
    return meanings, places


def explain_terms(app, doctree, docname):
    """Give each link to a word of the glossary its place there and its meaning."""
    links = [
        link
        for link in doctree.findall(nodes.reference)
        if link.get("refuri", "").split("#")[0].endswith("glossary.html")
    ]
    if not links:
        return
    meanings, places = entries(app.env.get_doctree(GLOSSARY))
    for link in links:
        word = link.astext().lower()
        place = places.get(word, places.get(word.removesuffix("s")))
        if place and "#" not in link["refuri"]:
            link["refuri"] += f"#{place}"
        place = link["refuri"].partition("#")[2]
        if place in meanings:
            link["reftitle"] = meanings[place]
            link["classes"].append("pu-term")


def setup(app):
    """Register, after references have become links."""
    app.connect("doctree-resolved", explain_terms)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
