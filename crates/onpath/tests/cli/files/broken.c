u32 sum_of(u32 offset) { return offset +; }
