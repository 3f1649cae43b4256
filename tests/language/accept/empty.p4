// Nothing at all is a program too.
