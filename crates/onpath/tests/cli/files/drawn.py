"""Whether an SVG drawing has the texts of a program's graphs and as many edges: drawn.py SVG PROGRAM"""
import json
import subprocess
import sys
import xml.etree.ElementTree as tree

drawing, program = sys.argv[1:]
blocks = json.loads(subprocess.check_output(["onpath", "graph", program, "--json"]))
elements = list(tree.parse(drawing).getroot().iter())
texts = [" ".join(e.itertext()).strip() for e in elements if e.tag.endswith("}text")]
edges = [e for e in elements if e.get("class") == "edge"]
wanted = []
for block in blocks:
    wanted.append(block["block"])
    for node in block["nodes"]:
        wanted += [node["title"], *node["lines"]]
    wanted += [edge["label"] for edge in block["edges"] if edge["label"]]
print(
    len(blocks),
    "blocks, all texts," if sorted(texts) == sorted(wanted) else "blocks, other texts,",
    "all edges" if len(edges) == sum(len(b["edges"]) for b in blocks) else "other edges",
)
