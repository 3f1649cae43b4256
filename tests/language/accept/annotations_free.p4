@free(a b [ c { d } ] ; = + ++ 1 8w3 "x" (nested (deep)) , <>) @braces({}) @empty[] @pairs[a = 1, b = "x"]
@pragma text "over
lines" and more
@twice(1) @twice(2)
control c();
