/* A unit with as much debug information as units of large programs have. */
#include <algorithm>
#include <functional>
#include <future>
#include <iostream>
#include <map>
#include <regex>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

int of_a_unit(int number) {
    std::map<std::string, std::vector<int>> lists;
    std::unordered_map<int, std::string> names;
    lists["a"].push_back(number);
    names[number] = "b";
    std::regex wanted("a+b");
    auto matches = std::async([&] { return std::regex_match("aab", wanted); });
    return static_cast<int>(lists.size() + names.size()) + (matches.get() ? 1 : 0);
}
