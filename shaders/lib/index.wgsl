// Workgroups are folded into two dimensions where one would pass the adapter's limit.
fn flat_group(group: vec3<u32>, groups: vec3<u32>) -> u32 {
    return group.y * groups.x + group.x;
}
