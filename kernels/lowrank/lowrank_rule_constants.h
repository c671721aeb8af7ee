/* Made by tests/bench/lowrank_rule.py; included inside lr_costs. */
    const float rule_scale = 0.82912f;
    const float rule_none[5] = {-3.9817f, 0.79785f, 92.276f, 37.122f, 0.47588f};
    const float rule_one[6] = {-1.1872f, 0.92429f, 8.7726f, -1.2691f, 2.0344f, 4.7169f};
    const float rule_two[9] = {-0.0067159f, 0.82663f, 5.8441f, -2.7521f, 6.0284f, 3.3694f, 8.716f, 1.9611f, 2.1494f};
    const float rule_three[9] = {5.1757f, 0.57598f, 4.4984f, -3.2563f, 0.51876f, 1.8116f, -35.726f, -11.073f, 10.882f};
