"""Documents that explanations are about."""

from __future__ import annotations

ORDERS = b"""<orders>
 <order id='1' state='new'><Item>a</Item><qty>5</qty></order>
 <order id='2' state='open'><qty>x</qty></order>
 <other><item/></other>
</orders>"""
TABLE = b"""<!DOCTYPE table PUBLIC '-//OASIS//DTD DITA Topic//EN' 'topic.dtd'>
<table id='t'>
 <row role='header'><entry>1</entry></row>
 <row><entry class='num small'>2</entry><entry/></row>
</table>"""
