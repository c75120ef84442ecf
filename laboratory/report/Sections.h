//===- Sections.h - the parts of a study's page --------------------------------===//
//
// Each is a <section> as HTML, empty where the study has nothing to show in it.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "laboratory/report/StudyView.h"
#include <string>

namespace hybrid::rt::lab::report {

std::string scoreSection(const StudyView &view);      // the tables of scores
std::string profileSection(const StudyView &view);    // strengths: radars, bars by task
std::string difficultySection(const StudyView &view); // accuracy along each axis
std::string curveSection(const StudyView &view);      // accuracy and loss against steps
std::string costSection(const StudyView &view);       // parameters, FLOPs, state
std::string choiceSection(const StudyView &view);    // learning rates, weight decays, every setting
std::string specSection(const StudyView &view);      // the text of each architecture
std::string reproduceSection(const StudyView &view); // command, version, seeds, settings
std::string problemSection(const StudyView &view);   // failures and warnings
std::string noteSection(const StudyView &view);      // how to read it

/// The overall scores as bars, for the head of the page.
std::string verdictBars(const StudyView &view);

/// The marker of an architecture and its name.
std::string who(const StudyView &view, size_t architecture);
/// All architectures with their markers; buttons that single one out.
std::string legend(const StudyView &view);

/// The seeds of the runs, at most `most` of them named.
std::string seedList(const StudyView &view, size_t most);

} // namespace hybrid::rt::lab::report
