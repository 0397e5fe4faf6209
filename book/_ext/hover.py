"""Words of the glossary carry their meaning: what ``{term}`` links to is told where it stands.

The definition becomes the link's title; ``book/_static/book.js`` shows it on hover, focus and tap.
"""

from docutils import nodes

GLOSSARY = "book/glossary"


def definitions(glossary):
    """The text of each entry of the glossary by the place that links to it."""
    found = {}
    for item in glossary.findall(nodes.definition_list_item):
        (meaning,) = item.findall(nodes.definition)
        for term in item.findall(nodes.term):
            found |= dict.fromkeys(term["ids"], " ".join(meaning.astext().split()))
    return found


def explain_terms(app, doctree, docname):
    """Give each link to the glossary the meaning of its word."""
    links = [
        link for link in doctree.findall(nodes.reference) if "#term-" in link.get("refuri", "")
    ]
    if not links:
        return
    meanings = definitions(app.env.get_doctree(GLOSSARY))
    for link in links:
        link["reftitle"] = meanings[link["refuri"].split("#")[1]]
        link["classes"].append("pu-term")


def setup(app):
    """Register, after references have become links."""
    app.connect("doctree-resolved", explain_terms)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
