/* For `sum_of` of extern.p4: reads through a pointer that nothing has checked. */
u32 sum_of(u32 offset)
{
    volatile u32 *anywhere = (volatile u32 *)(u64)offset;
    return *anywhere;
}
