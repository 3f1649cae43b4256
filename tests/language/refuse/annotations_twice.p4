@list[1] @list[2] //~ E0252 a second `@list`
@mixed(x) @mixed[1] //~ E0252 a second `@mixed`
control c();
