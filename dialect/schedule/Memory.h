//===- Memory.h - what the steps of a program read and write ----------------===//
#pragma once
#include "dialect/schedule/Layout.h"
#include "dialect/schedule/ScheduleOps.h"

namespace hybrid {

/// Of a schedule.compute over stretches of parameters, element by element: the byte of their spaces
/// where these begin (an integer). Its launch then has item_spans.
constexpr llvm::StringLiteral itemsAtAttribute = "schedule.items_at";
/// Of a schedule.buffer in the space of gradients: ranks reduce it to those who own its parts (a
/// unit attribute).
constexpr llvm::StringLiteral toOwnersAttribute = "schedule.to_owners";
/// Of a schedule.buffer with one element: what the values of this rank are multiplied with in a
/// mean over ranks (a string, one of these).
constexpr llvm::StringLiteral rankFactorAttribute = "schedule.rank_factor", ofMean = "mean",
                              ofWeighted = "weighted";
/// Of what is to go to owners (toOwnersAttribute): what others own takes no memory behind that.
constexpr llvm::StringLiteral releaseAttribute = "schedule.release";

/// Of a module: the stretches of parameters whose optimizer's state ranks have shares of (an array
/// of schedule buffers).
constexpr llvm::StringLiteral sharedAttribute = "schedule.shared";
/// Of a module: ranks have shares of these parameters and their gradients, too (a unit attribute).
constexpr llvm::StringLiteral sharedParametersAttribute = "schedule.shares_parameters";

/// Where an operand of a step lies: the whole buffer, or what a schedule.view shows of it. Its
/// `buffer` is null for a schedule.absent.
View viewOf(mlir::Value memory);
/// The type of a view; of a buffer where the view is all of it.
mlir::MemRefType typeOf(const View &view);
/// The buffer itself where the view is all of it, else a view of it that `builder` makes right
/// behind the buffer, or one that stands there already.
mlir::Value materialize(const View &view, mlir::OpBuilder &builder);

/// A view that a step uses, or an output of the program.
struct Access {
  mlir::Operation *step;
  View view;
  bool written; // else only read
};
/// All of a step's, with those of steps inside.
llvm::SmallVector<Access> accessesOf(mlir::Operation *step);
/// All of a buffer's, through all of its views.
llvm::SmallVector<Access> usesOf(mlir::Value buffer);

/// Whether two views show the same elements in the same order.
bool sameElements(const View &a, const View &b);
/// Whether two views have an element in common. Exact for equal strides whose columns tell, else
/// decided by their extents.
bool mayOverlap(const View &a, const View &b);
/// Whether some of one touch an element of one of the others, and one of both writes it.
bool conflict(llvm::ArrayRef<Access> some, llvm::ArrayRef<Access> others);
/// Whether a step from `from` to the one before `to` touches the view; with `writesOnly`, whether
/// one writes it.
bool touchedBetween(mlir::Operation *from, mlir::Operation *to, const View &view,
                    bool writesOnly = false);

/// Whether a step reads an input of the backward part: in front of the first one that does, the
/// program may pause, with its other outputs complete.
bool readsCotangent(mlir::Operation *step);
/// Whether a step runs before any that reads a cotangent: a gradient's outputs may need it where
/// the program pauses.
bool runsBeforeCotangents(mlir::Operation *step);

/// Erases views and buffers of `program` that nothing uses any more.
void eraseUnused(ProgramOp program);

} // namespace hybrid
