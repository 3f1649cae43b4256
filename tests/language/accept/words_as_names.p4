/* over
   lines // and through */
struct s_t { bit<8> x; };;
control c(inout bit<8> type, inout bit<8> priority, inout bit<8> state) {
    action entries() { type = 1; }
    table key { actions = { entries; } default_action = entries(); }
    apply {
        bool actions = false;
        bit one = (bit) (type == 1); // one bit
        bool b = (bool) one;
        bool a = actions;
        actions = b == (a != true);
        if (a) ;
        else { priority = state /* in the middle */ + 1; }
        key.apply();
    }
}
